import type { DeviceTensor } from '../client/values/device-tensor.ts';
import { UsageError } from '../core/errors.ts';
import { type CacheMemory, HeldCaches } from './caches/cache-memory.ts';
import { type FinishReason, noNumbers, type StopStrings } from './generation.ts';
import { isPenalized, type Sampling } from './sampling.ts';
import type { TextStream } from './load/remote-tokenizer.ts';
import { requireRoom, roomFor } from './caches/text-cache.ts';
import {
  type Blank,
  type Caches,
  disposeCaches,
  disposePenalties,
  type Penalties,
  readDrawn,
  type TextProgram,
} from './text-program.ts';

/** New text of one of the texts of a batch. */
interface BatchPiece {
  /** Which prompt it goes on with. */
  readonly index: number;
  /** The text that the token completes, in whole characters. */
  readonly text: string;
}

export interface BatchRow {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly decoder: TextStream;
  readonly stops: StopStrings;
}

interface BatchOrder {
  readonly program: TextProgram;
  readonly memory: CacheMemory;
  readonly count: number;
  /** The texts, whose prompts are read as tokens first. */
  readonly prepare: () => Promise<readonly BatchRow[]>;
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
    this.finishReasons = Array.from({ length: order.count }, () => undefined);
  }

  /** The whole texts, in the order of the prompts. */
  async text(): Promise<string[]> {
    const texts = Array.from({ length: this.#order.count }, () => '');
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
    const { signal } = this.#order;
    const rows = await this.#order.prepare();
    const steps = new BatchSteps({ ...this.#order, rows });
    const left = rows.map(({ maxTokens }) => maxTokens);
    for (const [index, most] of left.entries())
      if (most === 0) this.finishReasons[index] = 'length';
    const isRunning = (index: number): boolean => this.finishReasons[index] === undefined;
    let hasFailed = false;
    try {
      while (rows.some((_, index) => isRunning(index))) {
        if (signal?.aborted) return;
        const chunk = await steps.next(left.map((most, index) => (isRunning(index) ? most : 0)));
        for (const [index, ids] of chunk.entries()) {
          const row = rows[index];
          if (row === undefined || !isRunning(index)) continue;
          const taken = ids.slice(0, left[index]);
          left[index] = (left[index] ?? 0) - taken.length;
          const { text, reason } = await this.#push(row, taken, left[index] === 0);
          this.finishReasons[index] = reason;
          if (text !== '') yield { index, text };
        }
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      for (const [index, reason] of this.finishReasons.entries()) {
        if (!hasFailed) this.finishReasons[index] = reason ?? 'aborted';
      }
      steps.dispose();
    }
  }

  /** The text that tokens complete, and why it ends with them, if it does. */
  async #push(
    { decoder, stops }: BatchRow,
    ids: readonly number[],
    isLast: boolean,
  ): Promise<{ readonly text: string; readonly reason: FinishReason | undefined }> {
    const endsAt = ids.findIndex((id) => this.#order.ends.has(id));
    const shown = endsAt < 0 ? ids : ids.slice(0, endsAt);
    const isEnd = endsAt >= 0 || isLast;
    const pieces = await decoder.push(shown, isEnd);
    let text = '';
    for (const piece of pieces.slice(0, shown.length)) {
      text += stops.push(piece);
      if (stops.isStopped) return { text, reason: 'stop' };
    }
    if (!isEnd) return { text, reason: undefined };
    text += stops.push(pieces.at(-1) ?? '') + stops.end();
    return { text, reason: endsAt >= 0 ? 'stop' : 'length' };
  }
}

interface BatchStepsOrder extends BatchOrder {
  readonly rows: readonly BatchRow[];
}

/** Chunks of tokens of all rows. Rows that have ended go on, but nobody minds what with. */
class BatchSteps {
  readonly #order: BatchStepsOrder;
  #held: HeldCaches | undefined;
  #logits: DeviceTensor | undefined;
  #penalties: Penalties | undefined;
  #blank: Blank | undefined;
  /** Tokens that were drawn of each row. */
  #drawn = 0;
  #ahead: Ahead | undefined;

  constructor(order: BatchStepsOrder) {
    this.#order = order;
  }

  /** The next tokens of each row, of which `left` are wanted. */
  async next(left: readonly number[]): Promise<readonly (readonly number[])[]> {
    this.#held ??= await this.#read();
    const { drawn, count } = this.#ahead ?? (await this.#begin(this.#held, left));
    this.#ahead = undefined;
    const rest = left.map((most) => Math.max(most - count, 0));
    const { rows, context } = this.#order;
    const hasRoom = rows.every(
      ({ prompt }, row) => !rest[row] || prompt.length + this.#drawn < context,
    );
    if (hasRoom && rest.some((most) => most > 0)) {
      this.#ahead = await this.#begin(this.#held, rest);
    }
    return (await readDrawn(drawn)).map(({ ids, logprobs }, row) => {
      const isWanted = (left[row] ?? 0) > 0;
      const isWrong = logprobs.slice(0, count).some(Number.isNaN);
      if (isWanted && isWrong) throw noNumbers((rows[row]?.prompt.length ?? 0) + this.#drawn);
      return ids.slice(0, count);
    });
  }

  dispose(): void {
    this.#ahead?.drawn.dispose();
    this.#held?.release();
    this.#logits?.dispose();
    if (this.#penalties) disposePenalties(this.#penalties);
    if (this.#blank) disposeCaches(this.#blank);
  }

  /** Reads all prompts, their last tokens in a step of their own: it gives the logits of all. */
  async #read(): Promise<HeldCaches> {
    const { rows, program, context } = this.#order;
    const longest = Math.max(...rows.map(({ prompt }) => prompt.length));
    requireRoom(longest, context);
    const capacity = Math.min(roomFor(longest, 0), context);
    const held = await this.#make(capacity, () => program.allocate(capacity, rows.length));
    try {
      for (let begin = 0; begin < longest - 1; ) {
        const room = program.readLength(longest - 1 - begin, capacity - begin);
        // A row that is read already writes where its last token comes.
        const positions = rows.map(({ prompt }) => Math.min(begin, prompt.length - 1));
        const parts = rows.map(({ prompt }) => prompt.slice(begin, -1).slice(0, room));
        const given = parts.map((part) => (part.length > 0 ? part : [0]));
        const reached = await program.prefill(held.caches, given, { positions, room, isOwn: true });
        reached.logits.dispose();
        held.caches = reached.caches;
        begin += room;
      }
      const last = rows.map(({ prompt }) => prompt.slice(-1));
      const positions = rows.map(({ prompt }) => prompt.length - 1);
      const reached = await program.prefill(held.caches, last, { positions, room: 1, isOwn: true });
      held.caches = reached.caches;
      this.#logits = reached.logits;
      return held;
    } catch (error) {
      held.release();
      throw error;
    }
  }

  async #begin(read: HeldCaches, left: readonly number[]): Promise<Ahead> {
    const { rows, program, context } = this.#order;
    // Rows of which nothing is wanted stay where there is room.
    const positions = rows.map(
      ({ prompt }, row) => prompt.length + ((left[row] ?? 0) > 0 ? this.#drawn : 0),
    );
    const furthest = Math.max(...positions.filter((_, row) => (left[row] ?? 0) > 0));
    const count = Math.max(1, Math.min(program.chunk, Math.max(...left), context - furthest));
    const held = await this.#withRoom(read, furthest + count);
    const logits = this.#logits;
    if (logits === undefined) throw new Error('internal: nothing is read');
    const samplings = rows.map(({ sampling }) => sampling);
    if (samplings.some(isPenalized)) {
      this.#penalties ??= await program.hold(
        rows.map(({ sampling: { bias }, prompt }) => ({ bias, prompt, generated: [] })),
      );
    }
    this.#blank ??= await program.blank(rows.length);
    const pending = await program.step({
      caches: held.caches,
      logits,
      count,
      positions: positions.map((position) => Math.min(position, held.capacity - count)),
      samplings,
      penalties: this.#penalties,
      allowed: undefined,
      isOwn: true,
      blank: this.#blank,
    });
    if (this.#penalties) this.#penalties = { ...this.#penalties, counts: pending.counts };
    else pending.counts.dispose();
    held.caches = pending.caches;
    this.#logits = pending.logits;
    this.#drawn += count;
    return { drawn: pending.drawn, count };
  }

  async #withRoom(held: HeldCaches, length: number): Promise<HeldCaches> {
    const { program, context } = this.#order;
    requireRoom(length, context);
    if (length <= held.capacity) return held;
    const more = Math.min(roomFor(length, held.capacity), context);
    this.#held = await this.#make(more, () => program.grow(held.caches, more, true));
    held.release();
    return this.#held;
  }

  #make(capacity: number, call: () => Promise<Caches>): Promise<HeldCaches> {
    const { rows, program, memory } = this.#order;
    const bytes = rows.length * capacity * program.bytesPerPosition;
    return HeldCaches.make({ capacity, memory, bytes }, call);
  }
}

/** A chunk whose tokens are being drawn and are not read back yet. */
interface Ahead {
  readonly drawn: DeviceTensor;
  readonly count: number;
}
