"""python -m lantern 灯市 桥头."""

import sys

from lantern.festival import plan_evening


def main() -> None:
    """Print the evening."""
    for line in plan_evening(sys.argv[1:], wind=0.25).open():
        print(line)


if __name__ == "__main__":
    main()
