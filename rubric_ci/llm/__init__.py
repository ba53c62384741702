"""Requests to models: direct or through litellm, patient, within caps; effects."""
