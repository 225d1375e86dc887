//! A scripted server that lies.
