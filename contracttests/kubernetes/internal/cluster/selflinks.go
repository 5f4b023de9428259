package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// SelfLinks serves the cluster's API to the user of a kubeconfig as Kubernetes did before
// 1.20: each object has a metadata.selfLink, without which clients of that time can't write
// an Event. Clients must ask for JSON.
func SelfLinks(kubeconfig string) (http.Handler, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Del("Accept-Encoding") // the transport's own is undone again
		},
		FlushInterval: -1, // a watch
		ModifyResponse: func(r *http.Response) error {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
				r.Header.Del("Content-Length")
				r.ContentLength = -1
				r.Body = linked(r.Request.URL.Path, r.Body)
			}
			return nil
		},
	}, nil
}

// linked returns the objects of an answer, or of the events of a watch, with their links.
func linked(at string, body io.ReadCloser) io.ReadCloser {
	from, to := io.Pipe()
	go func() {
		defer body.Close()
		in, out := json.NewDecoder(body), json.NewEncoder(to)
		in.UseNumber()
		for {
			var value any
			err := in.Decode(&value)
			if err == nil {
				link(at, value)
				err = out.Encode(value)
			}
			if err != nil {
				to.CloseWithError(err) // io.EOF at the end
				return
			}
		}
	}()
	return from
}

// link gives an object its link, or those in a list or an event. Readers need its beginning.
func link(at string, value any) {
	object, is := value.(map[string]any)
	if !is {
		return
	}
	link(at, object["object"])
	items, _ := object["items"].([]any)
	for _, item := range items {
		link(at, item)
	}
	metadata, _ := object["metadata"].(map[string]any)
	if name, is := metadata["name"].(string); is {
		metadata["selfLink"] = path.Join(at, name)
	}
}
