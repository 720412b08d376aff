// SPDX-License-Identifier: Apache-2.0

// The arena's end points with fasthttp, on one processor: bench-arena ITEMS CERTIFICATE KEY ROOT PORT PORT_TLS
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
)

type rating struct {
	Score int64 `json:"score"`
	Count int64 `json:"count"`
}

type item struct {
	ID       int64    `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int64    `json:"price"`
	Quantity int64    `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   rating   `json:"rating"`
	Total    int64    `json:"total"`
}

type list struct {
	Items []item `json:"items"`
	Count int    `json:"count"`
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}

func read(path string) (items []item) {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Split(line, "\t")
		items = append(items, item{number(f[0]), f[1], f[2], number(f[3]), number(f[4]), f[5] == "true",
			strings.Split(f[6], ","), rating{number(f[7]), number(f[8])}, 0})
	}
	return items
}

func first(items []item, count int, factor int64) list {
	shown := make([]item, min(count, len(items)))
	for i := range shown {
		shown[i] = items[i]
		shown[i].Total = items[i].Price * items[i].Quantity * factor
	}
	return list{shown, len(shown)}
}

func sayNumber(ctx *fasthttp.RequestCtx, n int64) {
	ctx.SetContentType("text/plain")
	ctx.SetBody(strconv.AppendInt(nil, n, 10))
}

func upload(ctx *fasthttp.RequestCtx) {
	if n, err := io.Copy(io.Discard, ctx.RequestBodyStream()); err == nil {
		sayNumber(ctx, n)
	} else {
		ctx.SetStatusCode(400)
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	items := read(os.Args[1])
	files := &fasthttp.FS{Root: os.Args[4], Compress: true, CompressBrotli: true, CompressRoot: os.Args[4] + "/../fasthttp"}
	file := files.NewRequestHandler()
	packed := fasthttp.CompressHandlerBrotliLevel(func(ctx *fasthttp.RequestCtx) {
		count, _ := strconv.Atoi(string(ctx.Path()[len("/json/"):]))
		factor, _ := ctx.QueryArgs().GetUint("m")
		ctx.SetContentType("application/json")
		_ = json.NewEncoder(ctx).Encode(first(items, count, int64(factor)))
	}, fasthttp.CompressBrotliDefaultCompression, fasthttp.CompressDefaultCompression)
	handle := func(ctx *fasthttp.RequestCtx) {
		path := string(ctx.Path())
		switch {
		case path == "/baseline11":
			a, _ := ctx.QueryArgs().GetUint("a")
			b, _ := ctx.QueryArgs().GetUint("b")
			sayNumber(ctx, int64(a+b))
		case path == "/pipeline":
			ctx.SetContentType("text/plain")
			ctx.SetBodyString("ok")
		case path == "/upload":
			upload(ctx)
		case strings.HasPrefix(path, "/json/"):
			packed(ctx)
		case strings.HasPrefix(path, "/static/"):
			file(ctx)
		default:
			ctx.SetStatusCode(404)
		}
	}
	server := &fasthttp.Server{Handler: handle, StreamRequestBody: true, MaxRequestBodySize: 32 << 20}
	go func() { log.Fatal(server.ListenAndServeTLS("127.0.0.1:"+os.Args[6], os.Args[2], os.Args[3])) }()
	log.Fatal(server.ListenAndServe("127.0.0.1:" + os.Args[5]))
}
