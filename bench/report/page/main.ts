import { byId, element } from '../../../src/demo/element.ts';
import { table } from '../../../src/demo/model/results.ts';
import { describeError } from '../../../src/core/format-quantity.ts';
import { type BenchReport, complaintsOf } from '../bench-report.ts';
import type { ReportProgress } from '../measure-report.ts';
import { reportTables } from '../report-tables.ts';
import { type SectionName, SECTIONS } from '../scopes.ts';

declare global {
  /** The last report of the page, for whoever drives it. */
  var weftReport: BenchReport | undefined;
}

const startButton = byId('start', HTMLButtonElement);
const cancelButton = byId('cancel', HTMLButtonElement);
const saveLink = byId('save', HTMLAnchorElement);
const scope = byId('scope', HTMLFieldSetElement);
const status = byId('status', HTMLElement);
const bar = byId('progress', HTMLProgressElement);
const detail = byId('detail', HTMLElement);
const tables = byId('tables', HTMLElement);
const ORDER = Object.keys(SECTIONS) as SectionName[];

let stop: AbortController | undefined;

async function start(): Promise<void> {
  stop = new AbortController();
  setRunning(true);
  globalThis.weftReport = undefined;
  try {
    // The kernels, their cases and the compiler load with the first start.
    const { measureReport } = await import('../measure-report.ts');
    const report = await measureReport({
      scope: chosenScope(),
      signal: stop.signal,
      onProgress: showProgress,
    });
    finish(report);
  } catch (error) {
    status.textContent = describeError(error);
  } finally {
    setRunning(false);
  }
}

function chosenScope(): BenchReport['scope'] {
  return scope.querySelector('input:checked')?.getAttribute('value') === 'quick' ? 'quick' : 'full';
}

function setRunning(isRunning: boolean): void {
  startButton.disabled = isRunning;
  scope.disabled = isRunning;
  cancelButton.hidden = !isRunning;
  cancelButton.disabled = false;
  bar.hidden = !isRunning;
  detail.textContent = '';
  if (isRunning) saveLink.hidden = true;
  document.documentElement.dataset['state'] = isRunning ? 'measuring' : 'idle';
}

let shownSection: SectionName | undefined;

/** Assistive technology hears of sections; what is measured at the moment changes too fast. */
function showProgress(progress: ReportProgress, report: BenchReport): void {
  const { section, what, done, total } = progress;
  const at = ORDER.indexOf(section);
  bar.value = (at + done / total) / ORDER.length;
  detail.textContent = `${what}, ${done + 1} of ${total}`;
  if (section === shownSection) return;
  shownSection = section;
  status.textContent = `${SECTIONS[section]} (${at + 1} of ${ORDER.length}) …`;
  showTables(report);
}

function finish(report: BenchReport): void {
  globalThis.weftReport = report;
  const complaints = complaintsOf(report);
  const verdict =
    report.adapter === undefined
      ? 'There is no WebGPU here'
      : complaints.length === 0
        ? 'Every kernel that was checked is right'
        : `${complaints.length} results are wrong, see the end`;
  const minutes = (report.durationMs / 60_000).toFixed(1);
  status.textContent = `${report.state === 'complete' ? 'Done' : 'Cancelled'} after ${minutes} minutes. ${verdict}.`;
  showTables(report);
  saveLink.href = saved(report);
  saveLink.download = `weft-report-${report.date.slice(0, 10)}.json`;
  saveLink.hidden = false;
}

function saved(report: BenchReport): string {
  if (saveLink.href !== '') URL.revokeObjectURL(saveLink.href);
  const text = JSON.stringify(report, undefined, 2);
  return URL.createObjectURL(new Blob([text], { type: 'application/json' }));
}

function showTables(report: BenchReport): void {
  tables.replaceChildren(
    ...reportTables(report).map(({ title, header, rows }) =>
      element(
        'section',
        { class: 'panel', 'aria-label': title },
        element('h2', {}, title),
        element(
          'div',
          { class: 'report-table', tabindex: 0, role: 'region', 'aria-label': title },
          table(header, rows),
        ),
      ),
    ),
  );
}

startButton.addEventListener('click', () => void start());
cancelButton.addEventListener('click', () => {
  cancelButton.disabled = true;
  stop?.abort();
});
document.documentElement.dataset['ready'] = 'true';
