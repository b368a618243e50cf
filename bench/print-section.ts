import { fileURLToPath } from 'node:url';
import { writeSection } from '../scripts/write-section.ts';

const PERFORMANCE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));

/** What a command measured, and where. */
interface Section {
  readonly command: string;
  /** The version of the browser, and the machine. */
  readonly about: string;
  readonly parts: readonly string[];
}

/** Prints it, and puts it into the section of docs/performance.md that `place` names, if it does. */
export function printSection({ command, about, parts }: Section, place: string | undefined): void {
  const date = new Date().toISOString().slice(0, 10);
  const text = [`\`${command}\`, ${date}, Chromium ${about}`, ...parts].join('\n\n');
  console.log(text);
  if (place !== undefined) writeSection(PERFORMANCE, place, text);
}
