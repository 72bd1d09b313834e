"""Statements that change a table or view of a catalog."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._sql.catalog.manager import Relation
from pyflink_on_spark._sql.catalog.objects import CatalogTable, CatalogView, ObjectPath
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.session import Session
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.syntax.statements import ObjectKind


def rename(session: Session, statement: syntax.Rename) -> None:
    """Give a table or view another name in its database.

    Raises:
        ValidationError: there is no such table or view, or there is one of the new name.
    """
    path = session.catalog.qualify(statement.path)
    if _permanent(session, path, statement.kind, statement.if_exists) is None:
        return
    new = session.catalog.qualify(statement.new_path)
    relations = session.catalog.database(path).relations
    if new.name in relations:
        raise ValidationError(
            f"Could not execute ALTER {statement.kind.value} {path} RENAME TO {new}: "
            f"Table (or view) {path.database}.{new.name} already exists in Catalog {path.catalog}."
        )
    relations[new.name] = relations.pop(path.name)


def set_options(session: Session, statement: syntax.AlterOptions) -> None:
    """Change options of a table.

    Raises:
        ValidationError: there is no such table, or an option cannot be reset.
    """
    path = session.catalog.qualify(statement.path)
    table = _permanent(session, path, ObjectKind.TABLE, statement.if_exists)
    if not isinstance(table, CatalogTable):
        return
    removed = statement.removed
    if removed is not None and not removed:
        raise ValidationError("ALTER TABLE RESET does not support empty key")
    if removed is not None and "connector" in removed:
        raise ValidationError("ALTER TABLE RESET does not support changing 'connector'")
    options = {**table.options, **dict(statement.options)}
    for key in removed or ():
        options.pop(key, None)
    relations = session.catalog.database(path).relations
    relations[path.name] = replace(table, options=options)


def _permanent(
    session: Session, path: ObjectPath, kind: ObjectKind, if_exists: bool
) -> Relation | None:
    """Return a table or view that is not temporary, or None if it may be missing and is."""
    word = kind.value
    found = None if path in session.catalog.temporary else session.catalog.find(path)
    if found is None:
        if if_exists:
            return None
        raise ValidationError(
            f"{word.capitalize()} {path.quoted} doesn't exist or is a temporary {word.lower()}."
        )
    if isinstance(found, CatalogView) is not (kind is ObjectKind.VIEW):
        other = "table" if kind is ObjectKind.VIEW else "view"
        raise ValidationError(f"ALTER {word} for a {other} is not allowed")
    return found
