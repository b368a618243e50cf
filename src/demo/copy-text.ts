const COPIED_MS = 1500;

/** Copies a text, and says so on the button. Where a browser does not allow it, the field is selected, to copy by hand. */
export async function copyText(
  text: string,
  button: HTMLButtonElement,
  field?: HTMLInputElement,
): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    field?.select();
    return;
  }
  const label = button.textContent;
  button.textContent = 'Copied';
  await new Promise((resolve) => setTimeout(resolve, COPIED_MS));
  button.textContent = label;
}
