import type { CacheType } from '../../core/text-layout.ts';

/**
 * A model in files of its own, which are read by ranges and kept: a `.weft` executable, any other program that
 * `Session.load` takes, or a language model that is compiled, by the end of its name `.onnx`, `.gguf`, `.safetensors` or
 * `.safetensors.index.json`.
 */
export interface FilesSource {
  readonly kind: 'files';
  /** Address of the model, beside which further files lie, or its name in `bytes`. */
  readonly url: string;
  /** The files, where they are there already, by name. */
  readonly bytes?: Readonly<Record<string, Uint8Array | Blob>> | undefined;
  /** Lets the browser keep downloads. */
  readonly cache: boolean;
  /** Hashes that files must have, by their names beside the model. */
  readonly integrity: Readonly<Record<string, string>>;
  /** What the page has read of files that have hashes: their begins have to be the same. */
  readonly heads?: Readonly<Record<string, FileHead>> | undefined;
  /** How a language model is compiled; undefined for what is none. */
  readonly text?: TextModelOptions | undefined;
}

export interface FileHead {
  readonly byteLength: number;
  readonly sha256: Uint8Array;
}

/** How a language model is made an executable. */
export interface TextModelOptions {
  /** Positions that it is to reach, up to the model's own number. */
  readonly contextLength?: number | undefined;
  /** Rounds its weights to blocks of codes. */
  readonly quantize?: 'q8_0' | 'q4_0' | undefined;
  /** Element type of its caches of keys and values; default: the one that the model names. */
  readonly cacheType?: CacheType | undefined;
}

/** An executable that a server of devices was sent before, by its SHA-256. */
export interface StoredSource {
  readonly kind: 'stored';
  readonly hash: string;
}

export type WireSource =
  | FilesSource
  | StoredSource
  | {
      readonly kind: 'url';
      readonly url: string;
      /** The answer for the first reader, where this thread asked for it while the machine's files came. */
      readonly early?: Promise<Response>[] | undefined;
    }
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly files?: FilesSource | undefined;
    }
  | { readonly kind: 'blob'; readonly blob: Blob; readonly files?: FilesSource | undefined }
  | {
      readonly kind: 'stream';
      readonly stream: ReadableStream<Uint8Array> | null;
      /** Absent for a stream that is no answer to a request. */
      readonly http?: HttpInfo | undefined;
      /** Among which it is, where they are kept. */
      readonly files?: FilesSource | undefined;
    };

/** The needed part of a Response, which itself cannot be posted. */
export interface HttpInfo {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** The length of the body after decompression; undefined while unknown. */
  readonly byteLength: number | undefined;
}

export function httpInfo({ url, status, statusText, headers }: Response): HttpInfo {
  // Of a compressed body the header counts the compressed bytes.
  const length = headers.has('content-encoding') ? 0 : Number(headers.get('content-length'));
  return { url, status, statusText, byteLength: length > 0 ? length : undefined };
}
