import { DeviceError } from '../../../core/errors.ts';
import type { BufferUser, WebGpuBuffer } from '../memory/buffers.ts';
import type { ParamPage } from '../memory/param-arena.ts';
import type { BindingLayout } from './pipeline-cache.ts';

const CAPACITY = 8192;

/** The entries of a bind group. The arrays are read at once, so callers may reuse them. */
export interface BindGroupQuery {
  readonly label: string;
  readonly layout: BindingLayout;
  readonly page: ParamPage | undefined;
  readonly paramByteLength: number;
  readonly buffers: readonly WebGpuBuffer[];
  readonly byteOffsets: readonly number[];
  readonly byteLengths: readonly number[];
  readonly writes: readonly boolean[];
}

class BindGroupEntry implements BufferUser {
  readonly hash: number;
  readonly group: GPUBindGroup;
  readonly layout: BindingLayout;
  readonly page: ParamPage | undefined;
  readonly paramByteLength: number;
  readonly buffers: readonly WebGpuBuffer[];
  readonly byteOffsets: readonly number[];
  readonly byteLengths: readonly number[];
  readonly #cache: BindGroupCache;
  /** The next entry of equal hash. */
  next: BindGroupEntry | undefined;
  /** Value of the cache's clock at the last use. */
  lastUse = 0;

  constructor(cache: BindGroupCache, hash: number, group: GPUBindGroup, query: BindGroupQuery) {
    this.#cache = cache;
    this.hash = hash;
    this.group = group;
    this.layout = query.layout;
    this.page = query.page;
    this.paramByteLength = query.paramByteLength;
    this.buffers = [...query.buffers];
    this.byteOffsets = [...query.byteOffsets];
    this.byteLengths = [...query.byteLengths];
  }

  matches(query: BindGroupQuery): boolean {
    if (this.layout !== query.layout || this.page !== query.page) return false;
    if (this.paramByteLength !== query.paramByteLength) return false;
    const { buffers, byteOffsets, byteLengths } = this;
    for (let i = 0; i < buffers.length; i++) {
      if (buffers[i] !== query.buffers[i]) return false;
      if (byteOffsets[i] !== query.byteOffsets[i]) return false;
      if (byteLengths[i] !== query.byteLengths[i]) return false;
    }
    return true;
  }

  drop(): void {
    this.#cache.drop(this);
  }
}

/**
 * Bind groups by what they bind, so that a repeated run creates none. Looking one up allocates
 * nothing. Groups vanish with any of their buffers; beyond the capacity the least recently used
 * half goes.
 */
export class BindGroupCache {
  created = 0;

  readonly #device: GPUDevice;
  readonly #buckets = new Map<number, BindGroupEntry>();
  readonly #capacity: number;
  #size = 0;
  #clock = 0;

  constructor(device: GPUDevice, capacity = CAPACITY) {
    this.#device = device;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get(query: BindGroupQuery): GPUBindGroup {
    const hash = hashOf(query);
    this.#clock++;
    let entry = this.#buckets.get(hash);
    while (entry !== undefined && !entry.matches(query)) entry = entry.next;
    entry ??= this.#create(query, hash);
    entry.lastUse = this.#clock;
    return entry.group;
  }

  clear(): void {
    for (const first of this.#buckets.values()) {
      for (let entry: BindGroupEntry | undefined = first; entry; entry = entry.next)
        this.drop(entry);
    }
  }

  drop(entry: BindGroupEntry): void {
    const first = this.#buckets.get(entry.hash);
    if (first === entry) {
      if (entry.next === undefined) this.#buckets.delete(entry.hash);
      else this.#buckets.set(entry.hash, entry.next);
    } else {
      let before = first;
      while (before !== undefined && before.next !== entry) before = before.next;
      if (before === undefined) return;
      before.next = entry.next;
    }
    this.#size--;
    for (const buffer of entry.buffers) buffer.users.delete(entry);
  }

  #create(query: BindGroupQuery, hash: number): BindGroupEntry {
    checkAliases(query);
    const group = this.#device.createBindGroup({
      label: query.label,
      layout: query.layout.groupLayout,
      entries: groupEntries(query),
    });
    this.created++;
    if (this.#size >= this.#capacity) this.#evict();
    const entry = new BindGroupEntry(this, hash, group, query);
    entry.next = this.#buckets.get(hash);
    this.#buckets.set(hash, entry);
    this.#size++;
    for (const buffer of entry.buffers) buffer.users.add(entry);
    return entry;
  }

  #evict(): void {
    const entries: BindGroupEntry[] = [];
    for (const first of this.#buckets.values()) {
      for (let entry: BindGroupEntry | undefined = first; entry; entry = entry.next) {
        entries.push(entry);
      }
    }
    entries.sort((a, b) => a.lastUse - b.lastUse);
    for (const entry of entries.slice(0, Math.ceil(entries.length / 2))) this.drop(entry);
  }
}

function hashOf({ layout, page, buffers, byteOffsets, byteLengths }: BindGroupQuery): number {
  let hash = Math.imul(layout.id, 0x9e3779b1) ^ (page?.id ?? 0);
  for (let i = 0; i < buffers.length; i++) {
    hash = Math.imul(hash ^ (buffers[i]?.id ?? 0), 0x85ebca6b);
    hash = Math.imul(hash ^ (byteOffsets[i] ?? 0) ^ (hash >>> 15), 0xc2b2ae35);
    hash ^= byteLengths[i] ?? 0;
  }
  return hash;
}

function groupEntries(query: BindGroupQuery): GPUBindGroupEntry[] {
  const { page, paramByteLength, buffers, byteOffsets, byteLengths } = query;
  const entries: GPUBindGroupEntry[] = buffers.map((buffer, i) => ({
    binding: i + 1,
    resource: {
      buffer: buffer.gpuBuffer,
      offset: byteOffsets[i] ?? 0,
      size: byteLengths[i] ?? 0,
    },
  }));
  if (page !== undefined) {
    entries.push({ binding: 0, resource: { buffer: page.gpuBuffer, size: paramByteLength } });
  }
  return entries;
}

/** WebGPU refuses a launch that may write what it also reads; say so by name, before it does. */
function checkAliases({ label, buffers, writes }: BindGroupQuery): void {
  for (const [i, buffer] of buffers.entries()) {
    const other = buffers.findIndex((candidate, j) => candidate === buffer && writes[j] === true);
    if (other >= 0 && writes[i] !== true) {
      throw new DeviceError({
        where: label,
        got: `one buffer that binding ${i + 1} reads and binding ${other + 1} writes`,
        expected: 'different storages for inputs and outputs of a kernel',
        remedy: 'Give the output a storage of its own.',
      });
    }
  }
}
