// Package forward moves bytes between clients and the members of a load
// balancer's listener, as an immutable Plan says.
//
// A Server serves one listener. Its owner binds the sockets and passes them to
// ServeTCP and ServeUDP, and describes what the listener does in a Plan:
//
//	server := forward.New(forward.Config{})
//	if err := server.Apply(plan); err != nil { … }
//	go server.ServeTCP(l)
//	…
//	server.Apply(changed) // new connections and requests follow it
//	server.Close()        // cuts what is open and waits
//
// Apply compiles the plan and swaps it atomically. New connections and requests
// follow the new plan; running connections keep the one they started with. Only
// a member that left the plan or is down loses its connections, after the time
// that the plan's Drain gives.
//
// TCP connections between two sockets are spliced: the kernel moves the bytes,
// and the package learns of them when it comes back from a round of copying.
// TLS, a bandwidth limit and HTTP copy through memory. HTTP and HTTPS are
// net/http's server, reverse proxy and transport.
//
// The package knows neither the state of an emulator nor its products, and
// checks no member's health.
package forward
