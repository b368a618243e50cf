import { UsageError } from '../core/errors.ts';
import type { CacheMemory } from './cache-memory.ts';
import type { FinishReason } from './generation.ts';
import type { Sampling } from './sampling.ts';
import type { StopStrings } from './stop-strings.ts';
import type { StreamDecoder } from './stream-decoder.ts';
import { requireRoom, roomFor } from './text-cache.ts';
import {
  type Begun,
  type Caches,
  disposeCaches,
  type Penalties,
  type Reached,
  readDrawn,
  type TextProgram,
} from './text-program.ts';

/** New text of one of the texts of a batch. */
export interface BatchPiece {
  /** Which prompt it goes on with. */
  readonly index: number;
  /** It completes whole characters. */
  readonly text: string;
}

/** One text of a batch. */
export interface BatchRow {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly decoder: StreamDecoder;
  readonly stops: StopStrings;
}

export interface BatchOrder {
  readonly program: TextProgram;
  readonly memory: CacheMemory;
  readonly rows: readonly BatchRow[];
  readonly ends: ReadonlySet<number>;
  readonly context: number;
  readonly signal: AbortSignal | undefined;
}

/** Texts that are generated together: a step reads the weights once for all of them. Iterate over it once. */
export class TextBatch implements AsyncIterable<BatchPiece> {
  /** Why each text ended; undefined until then. */
  readonly finishReasons: (FinishReason | undefined)[];
  readonly #order: BatchOrder;
  #isStarted = false;

  /** @internal */
  constructor(order: BatchOrder) {
    this.#order = order;
    this.finishReasons = order.rows.map(() => undefined);
  }

  /** The whole texts, in the order of the prompts. */
  async texts(): Promise<string[]> {
    const texts = this.#order.rows.map(() => '');
    for await (const { index, text } of this) texts[index] += text;
    return texts;
  }

  /** Pieces of text as they come, none of them empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<BatchPiece, void> {
    if (this.#isStarted) {
      const expected = 'one iteration; generate again for other texts';
      throw new UsageError({ where: 'TextBatch', got: 'a second iteration', expected });
    }
    this.#isStarted = true;
    const { rows, signal } = this.#order;
    signal?.throwIfAborted();
    const steps = new BatchSteps(this.#order);
    const left = rows.map(({ maxTokens }) => maxTokens);
    for (const [index, most] of left.entries())
      if (most === 0) this.finishReasons[index] = 'length';
    const isRunning = (index: number): boolean => this.finishReasons[index] === undefined;
    try {
      while (rows.some((_, index) => isRunning(index))) {
        signal?.throwIfAborted();
        const chunk = await steps.next(left.map((most, index) => (isRunning(index) ? most : 0)));
        for (const [index, ids] of chunk.entries()) {
          const taken = ids.slice(0, left[index]);
          let text = '';
          for (const id of taken) {
            if (!isRunning(index)) break;
            text += this.#push(index, id);
          }
          left[index] = (left[index] ?? 0) - taken.length;
          if (isRunning(index) && left[index] === 0) {
            this.finishReasons[index] = 'length';
            text += this.#rest(index);
          }
          if (text !== '') yield { index, text };
        }
      }
    } finally {
      steps.dispose();
    }
  }

  #push(index: number, id: number): string {
    const { rows, ends } = this.#order;
    const row = rows[index];
    if (row === undefined) return '';
    if (ends.has(id)) {
      this.finishReasons[index] = 'stop';
      return this.#rest(index);
    }
    const text = row.stops.push(row.decoder.push(id));
    if (row.stops.isStopped) this.finishReasons[index] = 'stop';
    return text;
  }

  #rest(index: number): string {
    const row = this.#order.rows[index];
    return row === undefined ? '' : row.stops.push(row.decoder.end()) + row.stops.end();
  }
}

/** Chunks of tokens of all rows. Rows that have ended go on, but nobody minds what with. */
class BatchSteps {
  readonly #order: BatchOrder;
  #reached: Reached | undefined;
  #penalties: Penalties | undefined;
  #capacity = 0;
  /** Tokens that were drawn of each row. */
  #drawn = 0;
  #ahead: Ahead | undefined;

  constructor(order: BatchOrder) {
    this.#order = order;
  }

  /** The next tokens of each row, of which `left` are wanted. */
  async next(left: readonly number[]): Promise<readonly (readonly number[])[]> {
    await this.#read();
    const { begun, count } = this.#ahead ?? (await this.#begin(left));
    this.#ahead = undefined;
    const rest = left.map((most) => Math.max(most - count, 0));
    const { rows, context } = this.#order;
    const hasRoom = rows.every(
      ({ prompt }, row) => !rest[row] || prompt.length + this.#drawn < context,
    );
    if (hasRoom && rest.some((most) => most > 0)) this.#ahead = await this.#begin(rest);
    return (await readDrawn(begun.drawn)).map(({ ids }) => ids.slice(0, count));
  }

  dispose(): void {
    this.#ahead?.begun.drawn.dispose();
    if (this.#reached) {
      disposeCaches(this.#reached.caches);
      this.#reached.logits.dispose();
      this.#order.memory.give(this.#bytes());
    }
    this.#reached = undefined;
    const { bias, seen, counts } = this.#penalties ?? {};
    for (const tensor of [bias, seen, counts]) tensor?.dispose();
  }

  /** Reads all prompts, their last tokens in a step of their own: it gives the logits of all. */
  async #read(): Promise<void> {
    if (this.#reached) return;
    const { rows, program, context } = this.#order;
    const longest = Math.max(...rows.map(({ prompt }) => prompt.length));
    requireRoom(longest, context);
    this.#capacity = Math.min(roomFor(longest, 0), context);
    this.#order.memory.take(this.#bytes());
    let caches: Caches | undefined;
    try {
      caches = await program.allocate(this.#capacity, rows.length);
      for (let begin = 0; begin < longest - 1; ) {
        const room = program.readLength(longest - 1 - begin, this.#capacity - begin);
        const own: Caches = caches;
        const ends = rows.map(({ prompt }) => Math.min(begin, prompt.length - 1));
        const parts = rows.map(({ prompt }) => prompt.slice(begin, -1).slice(0, room));
        // A row that is read already writes where its last token comes.
        const given = parts.map((part) => (part.length > 0 ? part : [0]));
        const reached = await program.prefill(own, given, { positions: ends, room, isOwn: true });
        reached.logits.dispose();
        caches = reached.caches;
        begin += room;
      }
      this.#reached = await program.prefill(
        caches,
        rows.map(({ prompt }) => prompt.slice(-1)),
        { positions: rows.map(({ prompt }) => prompt.length - 1), room: 1, isOwn: true },
      );
    } catch (error) {
      if (caches) disposeCaches(caches);
      this.#order.memory.give(this.#bytes());
      throw error;
    }
  }

  async #begin(left: readonly number[]): Promise<Ahead> {
    const { rows, program, context } = this.#order;
    // Rows of which nothing is wanted stay where there is room.
    const positions = rows.map(
      ({ prompt }, row) => prompt.length + ((left[row] ?? 0) > 0 ? this.#drawn : 0),
    );
    const running = positions.filter((_, row) => (left[row] ?? 0) > 0);
    const furthest = Math.max(...running);
    const count = Math.max(1, Math.min(program.chunk, Math.max(...left), context - furthest));
    await this.#makeRoom(furthest + count);
    const { caches, logits } = this.#reached ?? {};
    if (caches === undefined || logits === undefined) throw new Error('internal: nothing is read');
    const samplings = rows.map(({ sampling }) => sampling);
    if ((samplings[0]?.options ?? 0) % 2 === 1) {
      this.#penalties ??= await program.hold(
        rows.map(({ sampling: { bias }, prompt }) => ({ bias, prompt, generated: [] })),
      );
    }
    const begun = await program.step({
      caches,
      logits,
      count,
      positions: positions.map((position) => Math.min(position, this.#capacity - count)),
      samplings,
      penalties: this.#penalties,
      allowed: undefined,
      isOwn: true,
    });
    if (this.#penalties) this.#penalties = { ...this.#penalties, counts: begun.counts };
    else begun.counts.dispose();
    this.#reached = begun;
    this.#drawn += count;
    return { begun, count };
  }

  async #makeRoom(length: number): Promise<void> {
    const { program, context, memory } = this.#order;
    requireRoom(length, context);
    if (length <= this.#capacity || this.#reached === undefined) return;
    const more = Math.min(roomFor(length, this.#capacity), context);
    const before = this.#bytes();
    memory.take(this.#bytes(more));
    const caches = await program.grow(this.#reached.caches, more, true);
    this.#reached = { ...this.#reached, caches };
    memory.give(before);
    this.#capacity = more;
  }

  #bytes(capacity = this.#capacity): number {
    const { rows, program } = this.#order;
    return rows.length * capacity * program.bytesPerPosition;
  }
}

interface Ahead {
  readonly begun: Begun;
  readonly count: number;
}
