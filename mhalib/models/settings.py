"""What a network is besides its parameters, in words that can be compared and stored."""


def settings(network):
    """What the modules of a network hold besides parameters: heads, kernels, factors."""
    found = {f"{path}.{name}".strip("."): value for path, module in network.named_modules()
             for name, value in vars(module).items() if not name.startswith("_") and name != "training"}
    return {f"network.{name}": describe(value) for name, value in found.items()}


def describe(thing):
    """How an object prints, or its type where that would name an address in memory."""
    return type(thing).__qualname__ if " at 0x" in repr(thing) else repr(thing)
