"""Windows over keyed streams: how elements are collected, and when windows fire."""
