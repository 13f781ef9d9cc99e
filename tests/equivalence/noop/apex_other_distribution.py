# apexpy: magnetic coordinates; apexmodels: another tool. Neither is NVIDIA's.
import apexpy
from apexmodels import amp
from apex_legends.api import initialize


def convert(lat, lon):
    model = amp.initialize(lat, lon)
    return apexpy.Apex(date=2015.3).convert(lat, lon, "geo", "apex"), model, initialize
