"""The git repository: a revision goes in; objects, branches and the base of a change come out.

Files of a commit are read from git objects, without a second checkout.
"""
