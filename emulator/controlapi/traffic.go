package controlapi

// Traffic is the answer of GetTraffic: the listeners that the data plane knows, in order
// of id.
type Traffic struct {
	Listeners []ListenerTraffic `json:"listeners"`
}

// ListenerTraffic counts the traffic of a listener since it began to answer.
type ListenerTraffic struct {
	Listener     string `json:"listener"`
	LoadBalancer string `json:"loadBalancer"`
	Protocol     string `json:"protocol"`
	// AnswersAt lists the addresses at which clients on this machine reach it,
	// separated by commas.
	AnswersAt string `json:"answersAt,omitempty"`
	// Problem says why they don't, or not everywhere.
	Problem string `json:"problem,omitempty"`
	// Refused are the connections that access control or a limit refused.
	Refused uint64 `json:"refused"`
	// Waiting are the connections that wait as no server is well.
	Waiting int64           `json:"waiting"`
	Servers []ServerTraffic `json:"servers"`
}

// ServerTraffic is the part that one server had.
type ServerTraffic struct {
	// Server is the server's id, or address, with its port.
	Server string `json:"server"`
	// Active are the open connections and sessions; of HTTP, the requests on their way.
	Active      int64  `json:"active"`
	Connections uint64 `json:"connections"`
	Requests    uint64 `json:"requests"`
	BytesIn     uint64 `json:"bytesIn"`
	BytesOut    uint64 `json:"bytesOut"`
	Errors      uint64 `json:"errors"`
}
