// SPDX-License-Identifier: Apache-2.0

//! The arena's end points with actix-web, one worker: bench-arena ITEMS CERTIFICATE KEY PORT PORT_TLS PORT_H2 PORT_H2C

use actix_web::{get, middleware, post, web, App, Error, HttpRequest, HttpResponse, HttpServer, Responder};
use futures_util::StreamExt;
use openssl::ssl::{SslAcceptor, SslAcceptorBuilder, SslFiletype, SslMethod};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct Rating {
    score: i64,
    count: i64,
}

struct Item {
    id: i64,
    name: String,
    category: String,
    price: i64,
    quantity: i64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Serialize)]
struct Shown<'a> {
    id: i64,
    name: &'a str,
    category: &'a str,
    price: i64,
    quantity: i64,
    active: bool,
    tags: &'a [String],
    rating: &'a Rating,
    total: i64,
}

#[derive(Serialize)]
struct List<'a> {
    items: Vec<Shown<'a>>,
    count: usize,
}

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Factor {
    m: i64,
}

#[get("/baseline11")]
async fn baseline(terms: web::Query<Terms>) -> impl Responder {
    HttpResponse::Ok().content_type("text/plain").body((terms.a + terms.b).to_string())
}

#[get("/baseline2")]
async fn baseline2(terms: web::Query<Terms>) -> impl Responder {
    HttpResponse::Ok().content_type("text/plain").body((terms.a + terms.b).to_string())
}

#[post("/upload")]
async fn upload(mut body: web::Payload) -> Result<HttpResponse, Error> {
    let mut size = 0;
    while let Some(bytes) = body.next().await {
        size += bytes?.len();
    }
    Ok(HttpResponse::Ok().content_type("text/plain").body(size.to_string()))
}

#[get("/ws")]
async fn echo(request: HttpRequest, body: web::Payload) -> Result<HttpResponse, Error> {
    let (response, mut session, mut messages) = actix_ws::handle(&request, body)?;
    actix_web::rt::spawn(async move {
        while let Some(Ok(message)) = messages.next().await {
            let sent = match message {
                actix_ws::Message::Text(text) => session.text(text).await,
                actix_ws::Message::Binary(bytes) => session.binary(bytes).await,
                _ => Ok(()),
            };
            if sent.is_err() {
                break;
            }
        }
    });
    Ok(response)
}

#[get("/pipeline")]
async fn pipeline() -> impl Responder {
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

#[get("/json/{count}")]
async fn json(count: web::Path<usize>, factor: web::Query<Factor>, items: web::Data<Vec<Item>>) -> impl Responder {
    let shown: Vec<Shown> = items
        .iter()
        .take(*count)
        .map(|i| Shown {
            id: i.id,
            name: &i.name,
            category: &i.category,
            price: i.price,
            quantity: i.quantity,
            active: i.active,
            tags: &i.tags,
            rating: &i.rating,
            total: i.price * i.quantity * factor.m,
        })
        .collect();
    HttpResponse::Ok().json(List { count: shown.len(), items: shown })
}

fn read(path: &str) -> Vec<Item> {
    let text = std::fs::read_to_string(path).expect("items");
    text.lines()
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            let number = |at: usize| f[at].parse().expect("a number");
            Item {
                id: number(0),
                name: f[1].into(),
                category: f[2].into(),
                price: number(3),
                quantity: number(4),
                active: f[5] == "true",
                tags: f[6].split(',').map(String::from).collect(),
                rating: Rating { score: number(7), count: number(8) },
            }
        })
        .collect()
}

fn acceptor(certificate: &str, key: &str) -> SslAcceptorBuilder {
    let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls()).expect("TLS");
    builder.set_private_key_file(key, SslFiletype::PEM).expect("a key");
    builder.set_certificate_chain_file(certificate).expect("a certificate");
    builder
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let items = web::Data::new(read(&words[1]));
    let at = |n: usize| ("127.0.0.1", words[n].parse::<u16>().expect("a port"));
    HttpServer::new(move || {
        App::new()
            .wrap(middleware::Compress::default())
            .app_data(items.clone())
            .service(baseline)
            .service(baseline2)
            .service(pipeline)
            .service(json)
            .service(upload)
            .service(echo)
    })
    .workers(1)
    .backlog(4096)
    .bind(at(4))?
    .bind_openssl(at(5), acceptor(&words[2], &words[3]))?
    .bind_openssl(at(6), acceptor(&words[2], &words[3]))?
    .bind_auto_h2c(at(7))?
    .run()
    .await
}
