package forward

// shortIDLength is the length in bytes of a connection id in packets that don't give
// it. The QUIC versions that the cloud's qch knows use 8 (CLB-0605).
const shortIDLength = 8

// quicID returns the destination connection id of a QUIC packet, or nil if it has none.
func quicID(packet []byte) []byte {
	if len(packet) == 0 {
		return nil
	}
	const longForm = 0x80
	if packet[0]&longForm == 0 {
		if len(packet) < 1+shortIDLength {
			return nil
		}
		return packet[1 : 1+shortIDLength]
	}
	// A first byte, four of the version, and the id's length.
	if len(packet) < 6 {
		return nil
	}
	id := packet[6:]
	if n := int(packet[5]); n <= len(id) {
		return id[:n]
	}
	return nil
}
