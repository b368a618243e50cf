import { relative } from 'node:path';
import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';
import { roomOf, RoomTally } from './room-tally.ts';

/**
 * Prints one line for each room, a folder of `src`, when its last file has ended; a file that fails is shown at
 * once, and with its reasons at the end. Seconds are those of all workers together, imports included.
 */
export default class RoomReporter extends DefaultReporter {
  readonly #rooms = new Map<string, RoomTally>();

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#rooms.clear();
    for (const { moduleId } of specifications) this.#roomOf(moduleId).expectFile();
  }

  override onTestModuleEnd(testModule: TestModule): void {
    const room = this.#roomOf(testModule.moduleId);
    room.addFile(testModule);
    if (testModule.state() === 'failed') super.onTestModuleEnd(testModule);
    if (room.isComplete) this.log(room.line());
  }

  #roomOf(path: string): RoomTally {
    const name = roomOf(relative(this.ctx.config.root, path));
    const known = this.#rooms.get(name);
    if (known !== undefined) return known;
    const room = new RoomTally(name);
    this.#rooms.set(name, room);
    return room;
  }
}
