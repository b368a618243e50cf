import {
  type FromPart,
  type ToPart,
  bytesOf,
  type PartOperand,
  type PartRequest,
} from './part-protocol.ts';
import { internalError } from '../../../core/errors.ts';
import type { WasmCode } from '../wasm-code.ts';
import { MAX_BYTE_LENGTH } from '../memory/address-space.ts';
import { type WasmBuffer, WasmMemory } from '../memory/wasm-memory.ts';
import { gatherRuns } from './byte-runs.ts';

/** Does units of steps in a memory of its own, which keeps constants from one request to the next. */
export class PartServer {
  readonly #answer: (message: FromPart, transfer: readonly ArrayBuffer[]) => void;
  readonly #memory: WasmMemory;
  readonly #modules = new Map<number, WebAssembly.Exports>();
  readonly #kept = new Map<number, WasmBuffer>();

  constructor(
    answer: (message: FromPart, transfer: readonly ArrayBuffer[]) => void,
    byteBudget = MAX_BYTE_LENGTH,
  ) {
    this.#answer = answer;
    this.#memory = new WasmMemory({ byteBudget });
    answer({ kind: 'ready' }, []);
  }

  take(message: ToPart): void {
    if (message.kind === 'ping') this.#answer({ kind: 'ready' }, []);
    else if (message.kind === 'run') {
      const bytes = this.#attempt(() => this.#run(message));
      const spares = bytesOf(message.operands);
      const transfer = bytes ? [...spares, bytes] : spares;
      this.#answer({ kind: 'done', id: message.id, bytes, spares }, transfer);
    } else {
      // A failure is not reported here: requests that need the module or constant fail instead.
      this.#attempt(() => this.#prepare(message));
    }
  }

  #prepare(message: Exclude<ToPart, PartRequest | { readonly kind: 'ping' }>): void {
    const { id } = message;
    switch (message.kind) {
      case 'load':
        this.#modules.set(
          id,
          new WebAssembly.Instance(message.module, { env: { memory: this.#memory.memory } })
            .exports,
        );
        return;
      case 'unload':
        this.#modules.delete(id);
        return;
      case 'keep':
        this.#kept.set(id, this.#stored(message.bytes));
        return;
      case 'drop':
        this.#kept.get(id)?.destroy();
        this.#kept.delete(id);
        return;
      default:
        message satisfies never;
    }
  }

  /** The bytes that the units write. */
  #run(request: PartRequest): ArrayBuffer {
    const { module, index, operands, first, end, output, runs, room } = request;
    const code = this.#modules.get(module)?.[index];
    if (typeof code !== 'function') throw internalError(`no function ${index} of ${module}`);
    const addresses = operands.map((operand, slot) => this.#place(operand, slot));
    (code as WasmCode)(...addresses, first, end);
    const from = addresses[output] ?? 0;
    return gatherRuns(runs, new Uint8Array(this.#memory.bytes, from), room);
  }

  #place(operand: PartOperand, slot: number): number {
    switch (operand.kind) {
      case 'absent':
        return 0;
      case 'room':
        return this.#memory.scratchAddress(slot, operand.byteLength);
      case 'kept': {
        const kept = this.#kept.get(operand.id);
        if (kept === undefined) throw internalError(`no constant ${operand.id}`);
        return kept.begin - operand.skipped;
      }
      case 'bytes': {
        const { bytes, skipped } = operand;
        const address = this.#memory.scratchAddress(slot, bytes.byteLength);
        this.#memory.view(address, bytes.byteLength).set(new Uint8Array(bytes));
        return address - skipped;
      }
      default:
        return operand satisfies never;
    }
  }

  #stored(bytes: ArrayBuffer): WasmBuffer {
    const buffer = this.#memory.create(bytes.byteLength);
    this.#memory.view(buffer.begin, bytes.byteLength).set(new Uint8Array(bytes));
    return buffer;
  }

  #attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch {
      return undefined;
    }
  }
}

/** A thread's way to the one that started it. */
interface PartPort {
  post(message: FromPart, transfer: readonly ArrayBuffer[]): void;
  onMessage(take: (message: ToPart) => void): void;
}

/** Does units of steps for another thread, until that ends this one. */
export function servePart(port: PartPort): void {
  const server = new PartServer((message, transfer) => port.post(message, transfer));
  port.onMessage((message) => server.take(message));
}
