"""Cases that a model proposes: what it is asked, what is taken of its reply, files made of that.

Nothing here talks to anybody or writes a file that outlives a call.
"""
