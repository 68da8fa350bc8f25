"""The demo: parties with stock and keys, and one order through the public interface (`make demo`)."""
