"""agui-app: the AG-UI chat that people host themselves."""
