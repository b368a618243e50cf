/** The scope of an AudioWorklet, which the library of the page does not declare. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(
  name: string,
  processor: new () => AudioWorkletProcessor & { process(inputs: Float32Array[][]): boolean },
): void;

/** Samples of a chunk: a window of the model. */
const CHUNK = 512;

/** Hands on what it hears in chunks. */
class Microphone extends AudioWorkletProcessor {
  #chunk = new Float32Array(CHUNK);
  #filled = 0;

  process([input]: Float32Array[][]): boolean {
    for (const value of input?.[0] ?? []) {
      this.#chunk[this.#filled++] = value;
      if (this.#filled < CHUNK) continue;
      this.port.postMessage(this.#chunk);
      this.#chunk = new Float32Array(CHUNK);
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor('microphone', Microphone);
