"""GitHub as it is: the event, the API, comments, commits; effects."""
