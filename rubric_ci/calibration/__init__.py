"""How far a judge can be trusted: agreement with people, robustness against attacks."""
