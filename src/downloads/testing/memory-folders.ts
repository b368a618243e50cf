/** A folder as the private file system of a browser has it, in memory. Throws QuotaExceededError beyond a number of bytes. */
export class MemoryFolder {
  readonly kind = 'directory';
  readonly #entries = new Map<string, MemoryFolder | MemoryFile>();
  readonly #room: { free: number };

  constructor(room: { free: number } = { free: Infinity }) {
    this.#room = room;
  }

  async getDirectoryHandle(name: string, { create = false } = {}): Promise<MemoryFolder> {
    const found = this.#entries.get(name);
    if (found instanceof MemoryFolder) return found;
    if (!create) throw new DOMException(name, 'NotFoundError');
    const folder = new MemoryFolder(this.#room);
    this.#entries.set(name, folder);
    return folder;
  }

  async getFileHandle(name: string, { create = false } = {}): Promise<MemoryFile> {
    const found = this.#entries.get(name);
    if (found instanceof MemoryFile) return found;
    if (!create) throw new DOMException(name, 'NotFoundError');
    const file = new MemoryFile(this.#room);
    this.#entries.set(name, file);
    return file;
  }

  async removeEntry(name: string): Promise<void> {
    if (!this.#entries.delete(name)) throw new DOMException(name, 'NotFoundError');
  }

  async *keys(): AsyncGenerator<string> {
    yield* this.#entries.keys();
  }

  async *entries(): AsyncGenerator<[string, MemoryFolder | MemoryFile]> {
    yield* this.#entries;
  }
}

class MemoryFile {
  readonly kind = 'file';
  bytes = new Uint8Array();
  readonly #room: { free: number };

  constructor(room: { free: number }) {
    this.#room = room;
  }

  async getFile(): Promise<Blob> {
    return new Blob([this.bytes]);
  }

  async createWritable(): Promise<object> {
    let written = new Uint8Array();
    return {
      write: async (bytes: Uint8Array) => {
        if (bytes.byteLength > this.#room.free) {
          throw new DOMException('no room', 'QuotaExceededError');
        }
        this.#room.free -= bytes.byteLength;
        written = Uint8Array.from(bytes);
      },
      abort: async () => undefined,
      close: async () => {
        this.bytes = written;
      },
    };
  }
}
