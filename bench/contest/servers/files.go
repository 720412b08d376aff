// SPDX-License-Identifier: Apache-2.0

// The least program that serves a folder with net/http.
package main

import (
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	port, root, chain, key := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: http.FileServer(http.Dir(root)), IdleTimeout: 2 * time.Minute}
	if chain != "" {
		log.Fatal(server.ListenAndServeTLS(chain, key))
	}
	log.Fatal(server.ListenAndServe())
}
