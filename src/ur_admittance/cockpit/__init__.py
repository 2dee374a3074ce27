"""The cockpit: a page in the browser that shows a running controller, tunes and stops it.

It is a process of its own beside the control process, and shares nothing with it but the
blackboard: killed, hung or flooded, it changes nothing in the loop.

    access     who may come in, and how often
    frames     what the page sees, thirty times a second
    form       the sliders, made from the configuration's schema
    acts       what a page may ask for
    recordings what is recorded, and reports of it
    paths      what is taught, to be played
    server     pages in, frames out
    station    a simulated arm that is pushed from the page, in a process of its own
    page/      what the browser loads; nothing of it comes from elsewhere
"""
