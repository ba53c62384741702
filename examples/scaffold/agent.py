"""An agent to replace with your own: it answers --prompt on standard output."""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--prompt", required=True)
print(f"No answer yet to: {parser.parse_args().prompt}")
