"""Send requests. Only this layer and the emulator open sockets or need httpx."""
