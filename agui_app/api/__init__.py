"""HTTP in: the public API, one file per resource.

Enter by `app.create_api`; `guard.Guard` stands in front of everything that the process serves. Routes check what
came, call the services and write what they give. Nothing here knows the page or decides what a run does.
"""
