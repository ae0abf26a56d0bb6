import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { blocksOf, inlinesOf, isWebAddress, type MarkBlock, runbookLink } from "@/lib/markdown";

/** A text of a runbook as elements of ours: its characters are shown, never read as HTML. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="ps-prose">
      {blocksOf(text).map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </div>
  );
}

function Block({ block }: { block: MarkBlock }) {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines text={block.text} />
        </p>
      );
    case "code":
      // The block scrolls, so the keyboard must be able to reach it.
      return (
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- WCAG 2.1.1: scrollable region
        <pre className="ps-code" tabIndex={0}>
          {block.text}
        </pre>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Inlines text={item} />
        </li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <div className="ps-table-wrap">
          <table className="ps-table">
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col">
                    <Inlines text={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>
                      <Inlines text={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

export function Inlines({ text }: { text: string }): ReactNode {
  return inlinesOf(text).map((part, index) => {
    if (part.kind === "code")
      return (
        <code key={index} className="ps-mono">
          {part.text}
        </code>
      );
    if (part.kind === "strong") return <strong key={index}>{part.text}</strong>;
    if (part.kind === "link") return <Leading key={index} text={part.text} href={part.href} />;
    return part.text;
  });
}

function Leading({ text, href }: { text: string; href: string }) {
  const runbook = runbookLink(href);
  if (runbook)
    return (
      <Link to="/runbooks/$runbookId" params={{ runbookId: runbook.id }} hash={runbook.section} className="ps-link">
        {text}
      </Link>
    );
  if (isWebAddress(href))
    return (
      <a href={href} target="_blank" rel="noopener noreferrer" className="ps-link">
        {text}
      </a>
    );
  return text;
}
