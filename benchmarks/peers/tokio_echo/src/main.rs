// SPDX-License-Identifier: BSL-1.0
//! tokio-echo THREADS: an echo server on Tokio's multi-thread runtime. Its standard input is a listening socket that does
//! not block. `quintet-bench serve --peer tokio-echo` starts it.
use std::os::fd::FromRawFd;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const BUFFER_BYTES: usize = 64 * 1024;

async fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let size = stream.read(&mut buffer).await?;
        if size == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..size]).await?;
    }
}

async fn serve(listening: std::net::TcpListener) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listening)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(echo(stream));
    }
}

fn main() -> std::io::Result<()> {
    let threads = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    // SAFETY: the program that started this one gives it the socket, and nothing else here uses the descriptor.
    let listening = unsafe { std::net::TcpListener::from_raw_fd(0) };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_io()
        .build()?;
    runtime.block_on(serve(listening))
}
