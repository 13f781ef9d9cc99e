"""The report of a session: report.html, report.md, results.json, the figures and TensorBoard's event files."""
