import type { SpeedPrompt } from '../speed/prompts.ts';

/** Who takes part. */
export type ContestantName = 'weft' | 'weft-fast' | 'wllama' | 'onnxruntime';

/** How one is loaded. */
export interface ContestantRequest {
  readonly device: 'webgpu' | 'wasm';
  /** The address of the model. */
  readonly model: string;
  /** Of the model's caches, for whoever is given them. */
  readonly cache: { readonly layers: number; readonly heads: number; readonly width: number };
}

/** One with its model, loaded. */
export interface Contestant {
  /** Milliseconds until a token behind a prompt that is new is there. */
  prefill(prompt: SpeedPrompt): Promise<number>;
  /** Milliseconds of each of so many tokens behind a prompt, which may be known. */
  decode(prompt: SpeedPrompt, count: number): Promise<number>;
}

export type StartContestant = (request: ContestantRequest) => Promise<Contestant>;
