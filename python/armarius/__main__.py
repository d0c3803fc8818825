"""`python -m armarius`."""

import sys

from armarius.cli import main

sys.exit(main())
