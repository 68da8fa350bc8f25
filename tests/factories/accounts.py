from __future__ import annotations

from typing import Any
from uuid import uuid4

import factory
from django.contrib.auth.models import Group, User

from accounts.member_roles import MemberRole
from accounts.models import (
    ApiKey,
    Contact,
    ContactMessage,
    IdempotencyKey,
    Invitation,
    MailSubscription,
    Member,
    OperatorAction,
    Partnership,
    Retailer,
    SavedView,
    Supplier,
    Suspension,
)
from tests.factories.base import ModelFactory


class SupplierFactory(ModelFactory[Supplier]):
    class Meta:
        model = Supplier

    name = factory.Sequence(lambda n: f"Supplier {n}")


class RetailerFactory(ModelFactory[Retailer]):
    class Meta:
        model = Retailer

    name = factory.Sequence(lambda n: f"Retailer {n}")


class PartnershipFactory(ModelFactory[Partnership]):
    class Meta:
        model = Partnership

    retailer = factory.SubFactory(RetailerFactory)
    supplier = factory.SubFactory(SupplierFactory)


class ContactFactory(ModelFactory[Contact]):
    """A person of a given party."""

    class Meta:
        model = Contact

    name = factory.Sequence(lambda n: f"Person {n}")


class ContactMessageFactory(ModelFactory[ContactMessage]):
    """A message of an operator to a given contact, about order 1."""

    class Meta:
        model = ContactMessage

    model = "orders.order"
    record_id = 1
    subject = "A date?"
    text = "Hello"
    by = "olga"
    form_id = factory.LazyFunction(uuid4)


class IssuedKeyFactory(factory.Factory[tuple[ApiKey, str]]):
    """An API key of a `party`, together with its secret, which is shown only once."""

    class Meta:
        model = ApiKey.issue

    party = factory.SubFactory(SupplierFactory)
    name = "ERP"


class IdempotencyKeyFactory(ModelFactory[IdempotencyKey]):
    class Meta:
        model = IdempotencyKey

    party = "supplier:1"
    key = factory.Sequence(lambda n: f"key-{n}")
    request_digest = ""
    status = 201
    body = b"{}"


class OperatorActionFactory(ModelFactory[OperatorAction]):
    """An action whose rows are not checked yet."""

    class Meta:
        model = OperatorAction

    model = "orders.order"
    action = "hold"
    label = "Hold"
    actor = "user:olga"


class StaffFactory(ModelFactory[User]):
    """A user who may log in to the admin with the rights of `group`."""

    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"staff-{n}")
    password = factory.django.Password("secret")
    is_staff = True

    @classmethod
    def _create(cls, model_class: type[User], *args: Any, group: str = "", **fields: Any) -> User:
        user: User = super()._create(model_class, *args, **fields)
        if group:
            user.groups.add(Group.objects.get(name=group))
        return user


class UserFactory(ModelFactory[User]):
    """A user without access to the admin."""

    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"person-{n}@example.com")
    email = factory.SelfAttribute("username")
    first_name = factory.Sequence(lambda n: f"Person {n}")


class MemberFactory(ModelFactory[Member]):
    """A member of a `supplier` or a `retailer`."""

    class Meta:
        model = Member

    user = factory.SubFactory(UserFactory)
    member_role = MemberRole.OWNER


class InvitationFactory(factory.Factory[tuple[Invitation, str]]):
    """An invitation to a `party`, together with its token, which is shown only once."""

    class Meta:
        model = Invitation.issue

    party = factory.SubFactory(SupplierFactory)
    email = factory.Sequence(lambda n: f"invited-{n}@example.com")
    member_role = MemberRole.ORDERS
    invited_by = "user:olga"


class SavedViewFactory(ModelFactory[SavedView]):
    """A view of a given owner."""

    class Meta:
        model = SavedView


class SuspensionFactory(ModelFactory[Suspension]):
    """A row of the table of suspensions only. Call `suspend` to stop the trade, too."""

    class Meta:
        model = Suspension


class MailSubscriptionFactory(ModelFactory[MailSubscription]):
    """A subscription of a given member to all events from the first event on."""

    class Meta:
        model = MailSubscription

    after = 0
