// load asks the proxy for something. A browser that is signed out is sent to the form.
export async function load(path) {
  const answer = await fetch(path);
  if (answer.redirected) location.reload();
  if (!answer.ok) throw new Error(answer.status === 404 ? "It is not kept any more." : "The proxy answered " + answer.status + ".");
  return answer.json();
}
