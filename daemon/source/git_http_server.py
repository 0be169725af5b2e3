#!/usr/bin/env python3
"""Serves the git repositories under a folder over HTTP on a free port of this machine, which it prints; for tests.

usage: git_http_server.py FOLDER PROTOCOL     PROTOCOL 0: a client's wish for a newer one is not passed on
A path that begins with /private/ wants credentials.
"""
import http.server
import os
import subprocess
import sys

FOLDER, PROTOCOL = sys.argv[1], sys.argv[2]


class Handler(http.server.BaseHTTPRequestHandler):
    def serve(self):
        if self.path.startswith("/private/"):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environment = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": FOLDER, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                       "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
                       "CONTENT_TYPE": self.headers.get("Content-Type", ""), "GIT_CONFIG_GLOBAL": "/dev/null",
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")}
        if PROTOCOL != "0":
            environment["GIT_PROTOCOL"] = self.headers.get("Git-Protocol", "")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
        answer = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE).stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        self.send_response(int(dict(fields).get("Status", "200").split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = serve

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
