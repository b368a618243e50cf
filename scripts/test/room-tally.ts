import type { TestModule } from 'vitest/node';

/** The room of a file: a folder of `src`, or a folder beside it. */
export function roomOf(path: string): string {
  const [first = '', second = ''] = path.replaceAll('\\', '/').split('/');
  return first === 'src' ? second : first;
}

/** What a reporter knows of a file of tests that has ended. */
export type EndedFile = Pick<TestModule, 'diagnostic' | 'children' | 'state'>;

/** Counts the files, tests and seconds of a room. */
export class RoomTally {
  readonly #name: string;
  #expected = 0;
  #files = 0;
  #tests = 0;
  #failed = 0;
  #milliseconds = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get isComplete(): boolean {
    return this.#files >= this.#expected;
  }

  expectFile(): void {
    this.#expected++;
  }

  addFile(file: EndedFile): void {
    this.#files++;
    const { duration, collectDuration, setupDuration } = file.diagnostic();
    this.#milliseconds += duration + collectDuration + setupDuration;
    const before = this.#failed;
    for (const test of file.children.allTests()) {
      this.#tests++;
      if (test.result().state === 'failed') this.#failed++;
    }
    // A file that cannot be loaded has no tests.
    if (file.state() === 'failed' && this.#failed === before) this.#failed++;
  }

  /** `frontend         55 files   2345 tests    103.1 s`. */
  line(): string {
    const seconds = (this.#milliseconds / 1000).toFixed(1);
    const counts = [
      `${this.#files} ${this.#files === 1 ? 'file' : 'files'}`.padStart(10),
      `${this.#tests} ${this.#tests === 1 ? 'test' : 'tests'}`.padStart(12),
      `${seconds} s`.padStart(10),
    ];
    const failed = this.#failed > 0 ? `   ${this.#failed} FAILED` : '';
    return `${this.#name.padEnd(14)}${counts.join('')}${failed}`;
  }
}
