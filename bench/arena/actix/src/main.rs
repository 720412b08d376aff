// SPDX-License-Identifier: Apache-2.0

//! The arena's end points with actix-web, one worker: bench-arena PORT ITEMS

use actix_web::{get, web, App, HttpResponse, HttpServer, Responder};
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

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let items = web::Data::new(read(&words[2]));
    HttpServer::new(move || App::new().app_data(items.clone()).service(baseline).service(pipeline).service(json))
        .workers(1)
        .backlog(4096)
        .bind(("127.0.0.1", words[1].parse().expect("a port")))?
        .run()
        .await
}
