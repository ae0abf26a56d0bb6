"""The one error of the contracts."""


class ContractError(ValueError):
    """A run configuration or result does not have the agreed shape; one line for people."""
