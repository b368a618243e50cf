/** The answer of a worker that calls {@link answerQuestions}; the worker ends with it. */
export function askWorker<Answer>(worker: Worker, question: unknown): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Answer | Error>) => {
      if (data instanceof Error) reject(data);
      else resolve(data);
    });
    worker.addEventListener('error', ({ message }) => reject(new Error(message)));
    worker.postMessage(question);
  }).finally(() => worker.terminate());
}

/** Answers messages in a worker. A rejection is sent too: it is no error event of the worker. */
export function answerQuestions(answer: (question: never) => Promise<unknown>): void {
  globalThis.addEventListener('message', (event) => {
    const { data } = event as MessageEvent<never>;
    void answer(data).then(
      (given) => postMessage(given),
      (error: unknown) => postMessage(error),
    );
  });
}
