"""Why a group is where it is, in one sentence. Pure: facts come in, a `Diagnosis` goes out."""

from controlplane.groups.diagnosis.diagnose import diagnose
from controlplane.groups.diagnosis.facts import (
    Cause,
    Diagnosis,
    GroupFacts,
    Place,
    Standing,
    harm_of,
    worse_severity,
)

__all__ = [
    "Cause",
    "Diagnosis",
    "GroupFacts",
    "Place",
    "Standing",
    "diagnose",
    "harm_of",
    "worse_severity",
]
