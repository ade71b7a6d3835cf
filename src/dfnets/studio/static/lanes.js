// Requests to the server, such that an old answer never covers a newer one.

async function post(path, body, signal) {
  const answer = await fetch(path, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal,
  });
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.error || answer.statusText), {status: answer.status});
  return content;
}

async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.json();
}

// One request at a time. While it runs, only the newest of those that wait is kept, so a drag never queues up.
// A lane that is cancelled gives up the request that runs and the one that waits.
class Lane {
  constructor(path, show, fail) {
    Object.assign(this, {path, show, fail, waiting: null, running: null});
  }

  ask(body, options = {}) {
    this.waiting = {body, options, asked: performance.now()};
    if (!this.running) this.#next();
  }

  cancel() {
    this.waiting = null;
    this.running?.abort.abort();
  }

  async #next() {
    while (this.waiting) {
      const job = this.running = {...this.waiting, abort: new AbortController()};
      this.waiting = null;
      try {
        const answer = await post(this.path, job.body, job.abort.signal);
        this.show(answer, {...job.options, asked: job.asked});
      } catch (error) {
        if (error.name !== "AbortError" && error.status !== 409) this.fail(error);
      }
      this.running = null;
    }
  }
}

export {Lane, get, post};
