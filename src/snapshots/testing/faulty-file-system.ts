/** Calls of the private file system that may fail. */
export const OPERATIONS = [
  'getDirectory',
  'getDirectoryHandle',
  'getFileHandle',
  'getFile',
  'arrayBuffer',
  'removeEntry',
] as const;

/** Those by which pages write. */
export const PAGE_OPERATIONS = ['createWritable', 'write', 'close'] as const;

/** Those by which workers write. */
export const WORKER_OPERATIONS = [
  'createSyncAccessHandle',
  'truncate',
  'writeSync',
  'flush',
] as const;

export type Operation =
  | (typeof OPERATIONS)[number]
  | (typeof PAGE_OPERATIONS)[number]
  | (typeof WORKER_OPERATIONS)[number];

/** A private file system in memory, one of whose calls fails as a full disk does. */
export class FaultyFileSystem {
  readonly files = new Map<string, Uint8Array>();
  readonly #open = new Set<string>();
  #fault: { readonly operation: Operation; readonly at: number } | undefined;
  #calls = 0;
  /** True if files are written synchronously, as in workers. */
  readonly #inWorker: boolean;

  constructor({ inWorker = false } = {}) {
    this.#inWorker = inWorker;
  }

  arm(operation: Operation, at: number): void {
    this.#fault = { operation, at };
    this.#calls = 0;
  }

  get hasStruck(): boolean {
    return this.#fault !== undefined && this.#calls >= this.#fault.at;
  }

  readonly storage = {
    getDirectory: async () => {
      this.#check('getDirectory');
      return this.#folder;
    },
  };

  readonly #folder = {
    getDirectoryHandle: async () => {
      this.#check('getDirectoryHandle');
      return this.#folder;
    },
    getFileHandle: async (name: string, options?: { create?: boolean }) => {
      this.#check('getFileHandle');
      if (!this.files.has(name)) {
        if (options?.create !== true) throw new DOMException('no such file', 'NotFoundError');
        this.files.set(name, new Uint8Array());
      }
      return this.#file(name);
    },
    removeEntry: async (name: string) => {
      this.#check('removeEntry');
      if (!this.files.delete(name)) throw new DOMException('no such file', 'NotFoundError');
    },
  };

  #file(name: string) {
    return {
      getFile: async () => {
        this.#check('getFile');
        const bytes = this.files.get(name) ?? new Uint8Array();
        return {
          arrayBuffer: async () => {
            this.#check('arrayBuffer');
            return bytes.slice().buffer;
          },
        };
      },
      createWritable: async () => {
        this.#check('createWritable');
        let written = new Uint8Array();
        return {
          write: async (bytes: Uint8Array) => {
            this.#check('write');
            written = bytes.slice();
          },
          // The written bytes take the place of the file here, and not before.
          close: async () => {
            this.#check('close');
            this.files.set(name, written);
          },
          abort: async () => undefined,
        };
      },
      createSyncAccessHandle: this.#inWorker ? () => this.#openAtOnce(name) : undefined,
    };
  }

  /** Each of whose calls changes the file itself. A full disk leaves the first half of what is written. */
  async #openAtOnce(name: string) {
    this.#check('createSyncAccessHandle');
    if (this.#open.has(name)) throw new DOMException('open', 'NoModificationAllowedError');
    this.#open.add(name);
    return {
      truncate: (byteLength: number) => {
        this.#check('truncate');
        this.files.set(name, (this.files.get(name) ?? new Uint8Array()).slice(0, byteLength));
      },
      write: (bytes: Uint8Array) => {
        const written = this.#strikes('writeSync') ? bytes.byteLength >> 1 : bytes.byteLength;
        this.files.set(name, bytes.slice(0, written));
        return written;
      },
      flush: () => this.#check('flush'),
      close: () => void this.#open.delete(name),
    };
  }

  #strikes(operation: Operation): boolean {
    return operation === this.#fault?.operation && ++this.#calls === this.#fault.at;
  }

  #check(operation: Operation): void {
    if (this.#strikes(operation)) throw new DOMException('an injected fault', 'QuotaExceededError');
  }
}
