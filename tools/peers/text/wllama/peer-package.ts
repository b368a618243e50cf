/** A token and the logarithm of its probability, as the server of llama.cpp tells them. */
interface PeerLogprob {
  readonly id: number;
  readonly logprob: number;
}

/** A token that was generated, with the likeliest ones in its place. */
export interface PeerToken extends PeerLogprob {
  readonly top_logprobs: readonly PeerLogprob[];
}

/**
 * Measurements of a request by llama.cpp: tokens that were read and generated, and how long that
 * took.
 */
interface PeerTimings {
  readonly prompt_n: number;
  readonly prompt_ms: number;
  readonly predicted_n: number;
  readonly predicted_ms: number;
}

/** The answer to a request, of which this is read. */
export interface PeerAnswer {
  readonly choices: readonly { readonly logprobs: { readonly content: readonly PeerToken[] } }[];
  readonly usage: { readonly prompt_tokens: number };
  readonly timings?: PeerTimings;
}

/** The part of @wllama/wllama 3 that is used here. */
export interface Wllama {
  loadModel(files: readonly Blob[], options: object): Promise<void>;
  getLoadedContextInfo(): { readonly list_tokens_eog: readonly number[] };
  createCompletion(options: object): Promise<PeerAnswer>;
  createChatCompletion(options: object): Promise<PeerAnswer>;
  exit(): Promise<void>;
}

/** The part of @wllama/wllama 2 that is used here; its successor has no such call. */
export interface TokenWllama {
  loadModel(files: readonly Blob[], options: object): Promise<void>;
  tokenize(text: string, special: boolean): Promise<ArrayLike<number>>;
  exit(): Promise<void>;
}

/** The constructor that either package exports. */
export interface PeerModule<Peer> {
  readonly Wllama: new (
    files: Readonly<Record<string, string>>,
    options: { readonly suppressNativeLog: boolean },
  ) => Peer;
}
