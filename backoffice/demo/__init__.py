"""The demo: a cast with keys, and a story that plays through the public interface."""
