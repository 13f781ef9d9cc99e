"""Puts the page together: the same content for HTML and Markdown."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from .. import format as fmt
from ..results import Results
from . import compared, measured, method, overview
from .blocks import Block, Image, Page, Section, Text


@dataclass(frozen=True)
class Drawn:
    """A figure as files, or the reason why there is none."""

    name: str
    title: str
    alt: str
    reading: str
    png: bytes | None
    svg: bytes | None
    nothing: str
    width: int = 0
    height: int = 0
    """Pixels at which its type has its natural size."""


def page(results: Results, drawn: Mapping[str, Drawn]) -> Page:
    """Everything the reports say, in order."""
    return Page(
        title="Apex amp and native AMP compared" + (" (SMOKE)" if results.smoke else ""),
        about=_about(results),
        facts=_facts(results),
        banner=_banner(results) if results.smoke else "",
        headline=results.headline,
        smoke=results.smoke,
        complete=results.complete,
        overview=overview.overview(results),
        legend=overview.legend(results),
        sections=(
            overview.before_reading(results),
            _figures(drawn),
            compared.pairs(results),
            compared.accuracy(results),
            compared.run_to_run(results),
            compared.step0(results),
            measured.claims(results),
            measured.sizes(results),
            measured.time_spent(results),
            measured.training(results),
            method.environment(results),
            method.method(results),
            method.threats(results),
            method.sources(results),
            method.rebuild(results),
        ),
    )


def _about(results: Results) -> str:
    spec = results.spec
    device = results.environment.get("gpu") or results.environment.get("cpu") or spec.device
    name = device.get("name", spec.device) if isinstance(device, Mapping) else device
    trained = f", {fmt.plural(spec.seeds, 'seed')} of {fmt.plural(spec.epochs, 'epoch')}" if spec.trained else ""
    return f"{name} · {spec.workload}, batch {spec.batch}{trained} · profile {spec.profile} · {results.started[:10]}"


def _facts(results: Results) -> str:
    found = results.environment
    apex = found.get("apex")
    version = apex.get("version") if isinstance(apex, Mapping) else apex
    versions = (("torch", "torch"), ("cuda", "CUDA"), ("cudnn", "cuDNN"))
    told = [f"{name} {found[key]}" for key, name in versions if found.get(key)]
    told.append(f"Apex {version}" if version else "no Apex")
    if results.machine and results.machine.sm_mhz:
        low, middle, high = (f"{value:,.0f}" for value in results.machine.sm_mhz)
        told.append(f"SM clock {middle} MHz ({low} to {high})")
    if results.seconds:
        gpu = f", {results.gpu_hours:.1f} GPU-hours" if results.gpu_hours else ""
        told.append(f"{fmt.duration(results.seconds)} of processes{gpu}")
    return " · ".join(told)


def _banner(results: Results) -> str:
    """That parts work is said of those that did."""
    nothing = "No conclusion on speed, memory or accuracy can be drawn from it."
    idle = [
        arm.name
        for arm in results.arms
        if arm.training and all(run.steps and run.skipped_steps == run.steps for run in arm.training)
    ]
    if results.failures:
        count = fmt.plural(len(results.failures), "task")
        return f"This run shows which parts work and which do not: {count} did not end well. {nothing}"
    if idle:
        return (
            f"This run shows that every part runs, but {fmt.listed(idle)} took no step: each overflowed while the loss "
            f"scale was still being found. {nothing}"
        )
    return f"This run shows that everything works. {nothing}"


def _figures(drawn: Mapping[str, Drawn]) -> Section:
    blocks: list[Block] = []
    for one in drawn.values():
        if one.svg is None:
            continue
        data = "data:image/svg+xml;base64," + base64.b64encode(one.svg).decode("ascii")
        blocks.append(Image(one.name, one.alt, one.reading, data, one.width, one.height))
    blocks += [Text(f"No figure “{one.title}”: {one.nothing}") for one in drawn.values() if one.svg is None]
    return Section("figures", "Figures", tuple(blocks))
