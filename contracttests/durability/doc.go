// Package durability tests what clbemu guarantees when it is killed, when its disk
// fails, when many clients call at once, and when it runs for long. The tests use the
// unmodified binary from outside.
package durability
