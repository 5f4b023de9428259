// Backend is a server behind a load balancer: it answers each request with its address.
//
//	go run ./examples/go/backend 127.0.0.1:18081
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: backend ADDRESS, such as 127.0.0.1:18081")
	}
	address := os.Args[1]
	log.Fatal(http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "served by", address)
	})))
}
