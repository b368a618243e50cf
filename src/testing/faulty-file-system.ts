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
  'closeSync',
] as const;

export type Operation =
  | (typeof OPERATIONS)[number]
  | (typeof PAGE_OPERATIONS)[number]
  | (typeof WORKER_OPERATIONS)[number]
  | 'keys';

export interface Fault {
  readonly operation: Operation;
  /** The call of it that fails, counted from 1. */
  readonly at: number;
  /** True if all calls after it fail too, until {@link FaultyFileSystem.disarm}. */
  readonly isLasting?: boolean;
  /** Of the DOMException; by default that of a full disk. */
  readonly name?: 'QuotaExceededError' | 'NoModificationAllowedError';
}

interface CreateOptions {
  readonly create?: boolean;
}

/** A private file system in memory, some of whose calls fail as those of a full disk do. */
export class FaultyFileSystem {
  /** By their paths. */
  readonly files = new Map<string, Uint8Array>();
  readonly #folders = new Set(['']);
  readonly #open = new Set<string>();
  #fault: Fault | undefined;
  #calls = 0;
  /** True if files are written synchronously, as in workers. */
  readonly #inWorker: boolean;

  constructor({ inWorker = false } = {}) {
    this.#inWorker = inWorker;
  }

  arm(operation: Operation, at: number, how: Omit<Fault, 'operation' | 'at'> = {}): void {
    this.#fault = { operation, at, ...how };
    this.#calls = 0;
  }

  disarm(): void {
    this.#fault = undefined;
  }

  get hasStruck(): boolean {
    return this.#fault !== undefined && this.#calls >= this.#fault.at;
  }

  readonly storage = {
    getDirectory: async () => {
      this.#check('getDirectory');
      return this.#folder('');
    },
  };

  #folder(path: string) {
    return {
      kind: 'directory',
      getDirectoryHandle: async (name: string, options?: CreateOptions): Promise<object> => {
        this.#check('getDirectoryHandle');
        const inner = `${path}${name}/`;
        if (!this.#folders.has(inner)) {
          this.#create(path, options);
          this.#folders.add(inner);
        }
        return this.#folder(inner);
      },
      getFileHandle: async (name: string, options?: CreateOptions) => {
        this.#check('getFileHandle');
        if (!this.files.has(path + name)) {
          this.#create(path, options);
          this.files.set(path + name, new Uint8Array());
        }
        return this.#file(path + name);
      },
      removeEntry: async (name: string) => this.#remove(path + name),
      keys: () => this.#namesIn(path),
      entries: () => this.#entriesOf(path),
    };
  }

  #create(folder: string, options: CreateOptions = {}): void {
    if (options.create === true && this.#folders.has(folder)) return;
    throw new DOMException('no such entry', 'NotFoundError');
  }

  /** A fault leaves the second half of what is in a folder. */
  #remove(path: string): void {
    const isIn = (entry: string): boolean => entry === path || entry.startsWith(`${path}/`);
    const inner = [...this.files.keys(), ...this.#folders].filter(isIn);
    const strikes = this.#strikes('removeEntry');
    if (inner.length === 0 && !strikes) throw new DOMException('no such entry', 'NotFoundError');
    if (inner.some((entry) => this.#open.has(entry))) throw exception('NoModificationAllowedError');
    for (const entry of strikes ? inner.slice(0, inner.length >> 1) : inner) {
      this.files.delete(entry);
      this.#folders.delete(entry);
    }
    if (strikes) throw exception(this.#fault?.name);
  }

  async *#namesIn(path: string): AsyncGenerator<string> {
    this.#check('keys');
    // Nobody promises an order.
    for (const entry of [...this.files.keys(), ...this.#folders].reverse()) {
      const name = entry.startsWith(path) ? /^[^/]+(?=\/?$)/.exec(entry.slice(path.length)) : null;
      if (name !== null) yield name[0];
    }
  }

  async *#entriesOf(path: string): AsyncGenerator<[string, object]> {
    for await (const name of this.#namesIn(path)) {
      const isFile = this.files.has(path + name);
      yield [name, isFile ? this.#file(path + name) : this.#folder(`${path}${name}/`)];
    }
  }

  #file(path: string) {
    return {
      kind: 'file',
      getFile: async () => {
        this.#check('getFile');
        const bytes = this.files.get(path);
        if (bytes === undefined) throw new DOMException('no such file', 'NotFoundError');
        const read = async () => {
          this.#check('arrayBuffer');
          return bytes.slice().buffer;
        };
        return { arrayBuffer: read, text: async () => new TextDecoder().decode(await read()) };
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
            this.files.set(path, written);
          },
          abort: async () => undefined,
        };
      },
      createSyncAccessHandle: this.#inWorker ? () => this.#openAtOnce(path) : undefined,
    };
  }

  /** Each of whose calls changes the file itself. A full disk leaves the first half of what is written. */
  async #openAtOnce(path: string) {
    this.#check('createSyncAccessHandle');
    if (this.#open.has(path)) throw exception('NoModificationAllowedError');
    this.#open.add(path);
    return {
      truncate: (byteLength: number) => {
        this.#check('truncate');
        this.files.set(path, (this.files.get(path) ?? new Uint8Array()).slice(0, byteLength));
      },
      write: (bytes: Uint8Array) => {
        const written = this.#strikes('writeSync') ? bytes.byteLength >> 1 : bytes.byteLength;
        this.files.set(path, bytes.slice(0, written));
        return written;
      },
      flush: () => this.#check('flush'),
      close: () => {
        this.#open.delete(path);
        this.#check('closeSync');
      },
    };
  }

  #strikes(operation: Operation): boolean {
    const fault = this.#fault;
    if (operation !== fault?.operation) return false;
    this.#calls++;
    return this.#calls === fault.at || (fault.isLasting === true && this.#calls > fault.at);
  }

  #check(operation: Operation): void {
    if (this.#strikes(operation)) throw exception(this.#fault?.name);
  }
}

function exception(name: Fault['name'] = 'QuotaExceededError'): DOMException {
  return new DOMException('an injected fault', name);
}
